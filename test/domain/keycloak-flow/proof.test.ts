import { describe, expect, test } from 'vitest';
import { read } from '../../../src/domain/core/verdict.ts';
import {
  judgeProof,
  proofRoles,
  requiredChecks,
  roleFor,
  type LoginEnd,
  type ProofReadings,
} from '../../../src/domain/keycloak-flow/proof.ts';
import { desiredTree } from '../../../src/domain/keycloak-flow/tree.ts';
import { desired, unread } from './world.ts';

const page = (name: Extract<LoginEnd, { kind: 'page' }>['page']) => read<LoginEnd>({ kind: 'page', page: name });
const code = read<LoginEnd>({ kind: 'code' });

/** Everything as it must be. */
const good: ProofReadings = {
  usernameAlone: page('password'),
  wrongPassword: page('password'),
  memberLogsIn: code,
  missingSecondFactor: page('otp'),
  administratorLogsIn: code,
  bareAdministrator: page('enrolment'),
};
const required = requiredChecks(desiredTree(desired()), proofRoles);

function judged(changes: Partial<Record<keyof ProofReadings, ProofReadings[keyof ProofReadings]>>) {
  return judgeProof(required, { ...good, ...changes } as ProofReadings);
}

describe('a login proof', () => {
  test('is put to everything that the tree asks for', () => {
    expect(required).toEqual([
      'usernameAlone',
      'wrongPassword',
      'memberLogsIn',
      'missingSecondFactor',
      'administratorLogsIn',
      'bareAdministrator',
    ]);
  });

  test('passes where every login ended as it must', () => {
    expect(judged({})).toMatchObject({ kind: 'passed', shown: { length: 6 } });
  });

  test.each(['usernameAlone', 'wrongPassword', 'missingSecondFactor', 'bareAdministrator'] as const)(
    'fails where %s gets a code, whatever else was not seen',
    (check) => {
      expect(judged({ [check]: code })).toMatchObject({ kind: 'failed', reason: 'LoginWithoutFactor' });
      expect(judgeProof(required, { [check]: code })).toMatchObject({ kind: 'failed', reason: 'LoginWithoutFactor' });
      expect(judgeProof([], { [check]: code })).toMatchObject({ kind: 'failed' });
    },
  );

  test.each(['memberLogsIn', 'administratorLogsIn'] as const)('fails where %s does not come to a code', (check) => {
    for (const end of ['error', 'password', 'otp', 'other', 'enrolment'] as const) {
      expect(judged({ [check]: page(end) })).toMatchObject({ kind: 'failed', reason: 'LoginRefused' });
    }
  });

  test('fails where an administrator without factors comes to anything but the enrolment page', () => {
    for (const end of ['error', 'password', 'otp', 'action', 'other'] as const) {
      expect(judged({ bareAdministrator: page(end) })).toMatchObject({ kind: 'failed', reason: 'NotEnrolment' });
    }
  });

  test.each(['usernameAlone', 'wrongPassword', 'missingSecondFactor'] as const)(
    'fails where %s comes to a required action: the flow let it through, and the action alone kept the code back',
    (check) => {
      for (const end of ['enrolment', 'action'] as const) {
        expect(judged({ [check]: page(end) })).toMatchObject({ kind: 'failed', reason: 'LoginWithoutFactor' });
      }
    },
  );

  test.each(required)('is not made where %s was not seen, and never passes for it', (check) => {
    expect(judged({ [check]: unread('timeout') })).toMatchObject({ kind: 'notMade', reason: 'NotShown' });
    const { [check]: _, ...rest } = good;
    expect(judgeProof(required, rest)).toMatchObject({
      kind: 'notMade',
      message: expect.stringMatching(/it was not tried/) as string,
    });
  });

  test('is not made by refusals alone', () => {
    expect(judgeProof(['usernameAlone'], { usernameAlone: page('password') })).toMatchObject({
      kind: 'notMade',
      reason: 'NoLogin',
    });
    expect(judgeProof([], {})).toMatchObject({ kind: 'notMade' });
  });

  test('asks for no second factor where the tree asks for none', () => {
    const without = (name: string) =>
      desiredTree(
        desired((input) => {
          for (const flow of Object.values(input.flows)) {
            for (const e of flow.executions) if (e['name'] === name) e['requirement'] = 'DISABLED';
          }
        }),
      );
    expect(requiredChecks(without('auth-otp-form'), proofRoles)).toEqual([
      'usernameAlone',
      'wrongPassword',
      'memberLogsIn',
    ]);
    expect(requiredChecks(without('browser-mfa-conditional-otp'), proofRoles)).toEqual([
      'usernameAlone',
      'wrongPassword',
      'memberLogsIn',
    ]);
    expect(requiredChecks(without('browser-mfa-password-and-otp'), proofRoles)).toEqual(['usernameAlone']);
  });

  test('is shown by whom the spec names', () => {
    expect(roleFor('wrongPassword', ['administrator'])).toBe('administrator');
    expect(roleFor('wrongPassword', proofRoles)).toBe('member');
    expect(roleFor('bareAdministrator', ['member'])).toBeNull();
    expect(requiredChecks(desiredTree(desired()), ['administrator', 'bareAdministrator'])).not.toContain(
      'memberLogsIn',
    );
  });
});
