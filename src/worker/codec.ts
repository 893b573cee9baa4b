import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { ConfigError, readSecret, type WorkerConfig } from './config.ts';

const ENCODING = 'binary/encrypted';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The payload codecs of a configuration: none, or AES-256-GCM with the id of the key in each payload's metadata. The
 * first key encrypts; all of them decrypt, which is how keys are rotated. Payloads that are not encrypted pass as they
 * are, so that a codec can be turned on while workflows run.
 *
 * @throws ConfigError where a key cannot be read or is not 32 bytes of base64
 */
export async function createCodecs(config: WorkerConfig): Promise<PayloadCodec[]> {
  if (config.codec === undefined) return [];
  const keys = new Map<string, Buffer>();
  for (const { id, key } of config.codec.keys) {
    const bytes = Buffer.from(await readSecret(key), 'base64');
    if (bytes.length !== 32) throw new ConfigError(`codec key ${id}: expected 32 bytes in base64, got ${bytes.length}`);
    keys.set(id, bytes);
  }
  const [first] = config.codec.keys;
  return first === undefined ? [] : [new AesGcmCodec(first.id, keys)];
}

/** @see createCodecs */
class AesGcmCodec implements PayloadCodec {
  readonly #current: string;
  readonly #keys: ReadonlyMap<string, Buffer>;

  constructor(current: string, keys: ReadonlyMap<string, Buffer>) {
    this.#current = current;
    this.#keys = keys;
  }

  encode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map((p) => this.#encrypt(p)));
  }

  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(payloads.map((p) => (text(p.metadata?.['encoding']) === ENCODING ? this.#decrypt(p) : p)));
  }

  #encrypt(payload: Payload): Payload {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key(this.#current), iv);
    const plain = proto.temporal.api.common.v1.Payload.encode(payload).finish();
    const data = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return { metadata: { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(this.#current) }, data };
  }

  #decrypt(payload: Payload): Payload {
    const data = Buffer.from(payload.data ?? []);
    const key = this.#key(text(payload.metadata?.['encryption-key-id']));
    const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, IV_BYTES));
    decipher.setAuthTag(data.subarray(data.length - TAG_BYTES));
    const plain = Buffer.concat([decipher.update(data.subarray(IV_BYTES, data.length - TAG_BYTES)), decipher.final()]);
    return proto.temporal.api.common.v1.Payload.decode(plain);
  }

  #key(id: string): Buffer {
    const key = this.#keys.get(id);
    if (!key) {
      const known = [...this.#keys.keys()].join(', ');
      throw new ConfigError(
        `a payload was encrypted with key ${JSON.stringify(id)}, which the configuration lacks (it has ${known})`,
      );
    }
    return key;
  }
}

function text(bytes: Uint8Array | null | undefined): string {
  return bytes ? Buffer.from(bytes).toString() : '';
}
