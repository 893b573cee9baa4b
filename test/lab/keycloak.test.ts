import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keycloakAdmin } from './keycloak-admin.ts';
import { createTestRealm } from './keycloak-realm.ts';
import { startLab, type Lab } from './lab.ts';
import { readProcesses } from './lab-process.ts';
import { readState } from './lab-state.ts';
import { keycloakOf } from './parts/keycloak.ts';
import { isAlive, processesOfLab } from './process-identity.ts';

const quiet = () => {};
let lab: Lab;

beforeEach(async () => {
  lab = await startLab({ parts: [], log: quiet });
});

afterEach(() => lab.stop());

describe('Keycloak in a lab', () => {
  test('joins it when it is asked for, keeps its realms when it is killed, and ends with the lab', async () => {
    const { dir } = lab.env;
    expect(lab.env.keycloak).toBe('');
    expect(readProcesses(dir)).toEqual([]);
    const [access, same] = await Promise.all([keycloakOf(lab.env, quiet), keycloakOf(lab.env, quiet)]);
    expect(same).toEqual(access);
    expect(readState(dir)?.env.keycloak).toBe(access.url);
    expect(readProcesses(dir)).toHaveLength(1);

    const realm = await createTestRealm(access);
    await lab.kill('keycloak');
    await keycloakOf(lab.env, quiet);
    expect(await realm.ask('GET', '')).toMatchObject({ realm: realm.realm });
    await realm.delete();
    await expect(keycloakAdmin(access).ask('GET', `/${realm.realm}`)).rejects.toThrow('404');

    const left = processesOfLab(dir);
    expect(left.length).toBeGreaterThan(0);
    await lab.stop();
    expect(left.filter(isAlive)).toEqual([]);
    expect(existsSync(dir)).toBe(false);
  });
});
