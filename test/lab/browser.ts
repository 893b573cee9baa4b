import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { findProgram } from './find/find-program.ts';
import { CHROMIUM } from './find/programs.ts';
import type { Log } from './find/run-tool.ts';

/** Chromium's file, or why a machine has none: tests with a browser are then skipped, with the reason in their name. */
export type FoundBrowser = { readonly program: string } | { readonly missing: string };

/** Finds Chromium, or unpacks Debian's (half a minute, once for each machine). Never throws. */
export async function findBrowser(log: Log = (line) => process.stderr.write(`lab: ${line}\n`)): Promise<FoundBrowser> {
  try {
    return { program: await findProgram(CHROMIUM, log) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { missing: message.split('\n')[0] ?? message };
  }
}

/** A headless Chromium, in which each person has cookies and an authenticator of their own. */
export interface LabBrowser {
  /** Somebody who was never there. */
  person(): Promise<Person>;
  /** Ends it; nothing of it stays. */
  close(): Promise<void>;
}

/** Somebody at a browser, with a passkey's authenticator that says yes by itself (WebAuthn needs https, or `http://localhost`). */
export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  /** How many passkeys the authenticator holds. */
  passkeys(): Promise<number>;
  /** Forgets that anybody was logged in; the authenticator stays. */
  forget(): Promise<void>;
}

/** How long a page may take, milliseconds: a busy machine's first page of a new server takes seconds. */
const patienceMs = 60_000;

/** Starts it with a folder of its own below the system's temporary one. @param program its file, as found */
export async function startBrowser(program: string): Promise<LabBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-browser-'));
  const browser = await chromium
    .launch({
      executablePath: program,
      headless: true,
      args: ['--disable-gpu', '--disable-dev-shm-usage'],
      // What it makes goes there, and it talks to no desktop that may be running.
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8' },
      timeout: patienceMs,
    })
    .catch((error: unknown) => {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    });
  return {
    async person() {
      const context = await browser.newContext();
      context.setDefaultTimeout(patienceMs);
      const page = await context.newPage();
      const devTools = await context.newCDPSession(page);
      await devTools.send('WebAuthn.enable');
      const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      return {
        page,
        context,
        passkeys: async () => (await devTools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length,
        forget: () => context.clearCookies(),
      };
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
