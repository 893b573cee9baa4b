import { fc } from '@fast-check/vitest';
import { desiredStateSchema, type DesiredState } from '../../../src/domain/keycloak-flow/desired.ts';

type Node =
  | {
      readonly kind: 'authenticator';
      readonly name: string;
      readonly requirement: string;
      readonly config: Record<string, string> | null;
    }
  | { readonly kind: 'flow'; readonly requirement: string; readonly children: readonly Node[] };

const authenticator: fc.Arbitrary<Node> = fc.record({
  kind: fc.constant('authenticator' as const),
  name: fc.constantFrom(
    'auth-cookie',
    'auth-username-form',
    'auth-password-form',
    'webauthn-authenticator-passwordless',
    'conditional-user-role',
  ),
  requirement: fc.constantFrom('REQUIRED', 'ALTERNATIVE', 'DISABLED'),
  config: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>[]>(
        { condUserRole: 'a' },
        { condUserRole: 'x', negate: 'false' },
      ),
    },
  ),
});

const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: authenticator },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('flow' as const),
        requirement: fc.constantFrom('REQUIRED', 'ALTERNATIVE', 'CONDITIONAL', 'DISABLED'),
        children: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      }),
    },
  ),
}));

/** Any tree of a few levels, as a desired state. */
export const arbitraryDesired: fc.Arbitrary<DesiredState> = fc
  .array(node, { minLength: 1, maxLength: 4 })
  .map((nodes) => {
    const flows: Record<string, unknown> = {};
    const authenticatorConfig: Record<string, unknown> = {};
    let flowCount = 0;
    const declare = (alias: string, topLevel: boolean, children: readonly Node[]): void => {
      // Its place among the fields is that of the declaration, not of the recursion below it.
      flows[alias] = null;
      const executions = children.map((child) => {
        if (child.kind === 'flow') {
          flowCount += 1;
          const name = `sub ${flowCount}`;
          declare(name, false, child.children);
          return { kind: 'flow', name, requirement: child.requirement };
        }
        const { name, requirement, config } = child;
        if (config === null) return { kind: 'authenticator', name, requirement };
        const configAlias = `config ${Object.keys(authenticatorConfig).length + 1}`;
        authenticatorConfig[configAlias] = config;
        return { kind: 'authenticator', name, requirement, configAlias };
      });
      flows[alias] = { topLevel, executions };
    };
    declare('any-browser', true, nodes);
    return desiredStateSchema.parse({
      realm: 'shop',
      webAuthnPolicyPasswordless: { RpEntityName: 'Shop' },
      browserFlow: 'any-browser',
      flows,
      authenticatorConfig,
    });
  });
