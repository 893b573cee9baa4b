import { spawn } from 'node:child_process';
import { z } from 'zod';
import { RegistryFault } from './errors.ts';
import type { DockerEntry } from './docker-config.ts';

const timeoutMs = 15_000;
const longestAnswer = 100_000;

const answerSchema = z.object({ Username: z.string(), Secret: z.string() });

/** By the protocol of docker-credential-helpers, this text and nothing else says that there is no entry. */
const notFound = 'credentials not found in native keychain';

/**
 * Asks `docker-credential-<name> get` (protocol of docker-credential-helpers): the server's name on its standard
 * input, JSON on its standard output. Run without a shell; what it prints never gets into a message.
 *
 * @returns null where the helper has no entry for that server
 */
export async function askCredentialHelper(name: string, server: string): Promise<DockerEntry | null> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw new RegistryFault('unparsed', 'the docker configuration names a credential helper that is no program name');
  }
  const program = `docker-credential-${name}`;
  const { code, output } = await run(program, server);
  if (code !== 0 && output.trim() === notFound) return null;
  if (code !== 0) throw new RegistryFault('error', `${program} failed with exit code ${code ?? 'none'}`);
  const answer = parseAnswer(output);
  if (answer === undefined) throw new RegistryFault('unparsed', `${program} answered something that is no credential`);
  // By the same protocol this user name says that the secret is a refresh token.
  if (answer.Username === '<token>') return { kind: 'identity-token', token: answer.Secret };
  return { kind: 'basic', username: answer.Username, password: answer.Secret };
}

function parseAnswer(output: string): z.output<typeof answerSchema> | undefined {
  try {
    return answerSchema.parse(JSON.parse(output));
  } catch {
    return undefined;
  }
}

function run(program: string, input: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['get'], { stdio: ['pipe', 'pipe', 'ignore'], shell: false, timeout: timeoutMs });
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      if (output.length < longestAnswer) output += data.toString('utf8');
    });
    child.on('error', (error) => {
      const code = 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
      reject(new RegistryFault('error', `${program} could not be run (${code})`));
    });
    child.on('close', (code, signal) => {
      if (signal === null) resolve({ code, output });
      else reject(new RegistryFault('timeout', `${program} gave no answer within ${timeoutMs / 1_000} s`));
    });
    // A helper that ends without reading is judged by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
