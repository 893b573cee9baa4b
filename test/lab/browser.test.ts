import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findBrowser, startBrowser } from './browser.ts';

const found = await findBrowser();

describe.skipIf('missing' in found)(`a browser of the lab${'missing' in found ? ` (${found.missing})` : ''}`, () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hf-tmp-'));
    vi.stubEnv('TMPDIR', folder);
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  test('opens pages, makes a passkey and answers with it, and leaves nothing', async () => {
    const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<p>there</p>'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const browser = await startBrowser('program' in found ? found.program : '');
    try {
      const ada = await browser.person();
      await ada.page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`);
      expect(await ada.page.locator('p').textContent()).toBe('there');
      expect(await ada.passkeys()).toBe(0);
      const answered = await ada.page.evaluate(makeAndUse);
      expect(answered).toBe('same');
      expect(await ada.passkeys()).toBe(1);
      // Somebody else has none of hers.
      expect(await (await browser.person()).passkeys()).toBe(0);
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('where there is none, it is told why', async () => {
  vi.stubEnv('HOLDFAST_LAB_CHROMIUM', '/nowhere/chromium');
  expect(await findBrowser()).toEqual({ missing: expect.stringContaining('/nowhere/chromium') as string });
  vi.unstubAllEnvs();
});

/** In the page: a passkey is made, and then asked for without saying which. */
const makeAndUse = `(async () => {
  const challenge = new Uint8Array(32);
  const made = await navigator.credentials.create({ publicKey: {
    challenge, rp: { name: 'Test' }, user: { id: new Uint8Array([1]), name: 'ada', displayName: 'Ada' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  } });
  const used = await navigator.credentials.get({ publicKey: { challenge, userVerification: 'required' } });
  return made.id === used.id ? 'same' : 'another';
})()`;
