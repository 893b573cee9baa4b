import { describe, expect, test } from 'vitest';
import { Simulation } from './simulation.ts';
import { exampleInput } from './world.ts';

/** Temporal refuses payloads of 2 MB and warns at 256 KB. */
const warning = 256 * 1_024;

describe('what a KeycloakFlow remembers', () => {
  test('fits a payload, also where the largest tree differs in everything, and nothing can be built', () => {
    const desired = exampleInput();
    const executions = desired.flows['browser-mfa-conditional-otp']?.executions ?? [];
    for (let at = 0; at < 90; at++) {
      const alias = `config-${at}`;
      executions.push({
        kind: 'authenticator',
        name: 'conditional-user-role',
        requirement: 'REQUIRED',
        configAlias: alias,
      });
      desired.authenticatorConfig[alias] = { condUserRole: `${'r'.repeat(150)}-${at}`, negate: 'false' };
    }
    const s = new Simulation({ desired } as never);
    s.bindSwitch = 'true';
    for (let number = 0; number < 5; number++) {
      const body = { alias: s.candidate(number), description: 'by hand' };
      s.keycloak.send({ method: 'POST', path: '/admin/realms/shop/authentication/flows', body });
    }
    for (let run = 0; run < 25; run++) {
      if (run % 2 === 0) s.bindSwitch = run % 4 === 0 ? 'true' : 'false';
      expect(s.flow()).toBe('Problem Exhausted');
    }
    expect(JSON.stringify(s.state).length).toBeLessThan(warning);
  });

  test('fits one as well where the flow that others bound has configurations of megabytes, and shows no secret of theirs', () => {
    const s = new Simulation();
    s.flow();
    s.approve();
    expect(s.flow()).toBe('Bound Bound');
    for (const [id, { alias }] of s.keycloak.configs) {
      s.keycloak.configs.set(id, { alias, config: { apiKey: 'hunter2', note: 'x'.repeat(1_000_000) } });
    }
    expect(s.flow()).toBe('Problem HandEdited');
    const kept = JSON.stringify(s.state);
    expect(kept.length).toBeLessThan(warning);
    expect(kept).toContain('apiKey=');
    expect(kept).not.toContain('hunter2');
  });
});
