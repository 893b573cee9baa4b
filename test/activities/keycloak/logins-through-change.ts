import type { DesiredState } from '../../../src/domain/keycloak-flow/desired.ts';
import { candidates } from '../../../src/domain/keycloak-flow/candidate-name.ts';
import type { ExecutionRow, FlowRepresentation } from '../../../src/domain/keycloak-flow/representation.ts';
import { declaredRows } from '../../../src/domain/keycloak-flow/tree.ts';
import { desired, type ExampleInput } from '../../domain/keycloak-flow/world.ts';
import { createTestRealm } from '../../lab/keycloak-realm.ts';
import type { KeycloakAccess } from '../../lab/parts/keycloak.ts';
import { bindCommand, built, startFlowRig, type FlowRig, type RealmUnderTest } from './flow-rig.ts';
import type { HeldPage } from './held-login.ts';
import { createHeldUsers, heldRealm, holdGroup, type HeldCount } from './held-users.ts';

/* People who are on a page of the login while it is changed, by Holdfast and by a way that tools take. */

/** When the logins of a group went on, and how. */
export interface ThroughChange {
  readonly when: string;
  readonly counts: Readonly<Record<HeldPage, HeldCount>>;
}

const rpId = 'localhost';

function before(input: ExampleInput): void {
  input.webAuthnPolicyPasswordless.RpId = rpId;
}

/** A change of structure by which nobody is asked for anything else. */
function after(input: ExampleInput): void {
  before(input);
  const redirector = input.flows['browser-mfa']?.executions[1];
  if (redirector === undefined) throw new Error('the example has another shape');
  redirector['requirement'] = 'DISABLED';
}

/**
 * Logins held open at each page while Holdfast builds the changed flow, binds it and takes it back. All of those of the old
 * flow were there before the first write.
 *
 * @param each how many at each page, for each moment
 */
export async function throughHoldfast(access: KeycloakAccess, each: number): Promise<readonly ThroughChange[]> {
  const realm = await createTestRealm(access, heldRealm);
  const rig = await startFlowRig(realm, before);
  try {
    const held = await createHeldUsers(realm, rpId);
    const first = await bindFirst(rig);
    const to = desired((input) => {
      input.realm = realm.realm;
      after(input);
    });
    const group = () => holdGroup(held, each);
    const [building, whenBuilt, whenBound, whenBack] = [await group(), await group(), await group(), await group()];

    const candidate = candidates(to)[0]?.alias ?? '';
    const [outcome, during] = await Promise.all([
      rig.run('buildCandidate', { desired: to, candidate }),
      building.goOn(),
    ]);
    if (outcome.kind !== 'built') throw new Error(JSON.stringify(outcome));
    const onceBuilt = await whenBuilt.goOn();
    const command = bindCommand(rig, outcome, { candidate, from: first });
    must(await rig.run('bindCandidate', { desired: to, command }));
    const onceBound = await whenBound.goOn();
    const ofNew = await group();
    must(await rig.run('rollBack', { desired: to, hold: { by: 'ada', reason: 'seen enough', at: Date.now() } }));
    return [
      { when: 'while the new flow is built', counts: during },
      { when: 'after it is built', counts: onceBuilt },
      { when: 'after it is bound', counts: onceBound },
      { when: 'after it is bound and rolled back', counts: await whenBack.goOn() },
      { when: 'from a page of the new flow, after the rollback', counts: await ofNew.goOn() },
    ];
  } finally {
    await rig.close();
  }
}

/**
 * The same where the bound flow is deleted and made anew under its alias, as keycloak-config-cli does for a change of
 * structure: an empty flow is bound meanwhile, since a bound one cannot be deleted.
 */
export async function throughRecreation(access: KeycloakAccess, each: number): Promise<readonly ThroughChange[]> {
  const realm = await createTestRealm(access, heldRealm);
  const rig = await startFlowRig(realm, before);
  try {
    const held = await createHeldUsers(realm, rpId);
    must(await rig.run('writePolicy'));
    await createFlow(realm, rig.desired);
    await bind(realm, rig.desired.browserFlow);
    const to = desired(after);
    const [whileEmpty, whenDone] = [await holdGroup(held, each), await holdGroup(held, each)];

    const placeholder = 'temporary';
    await realm.ask('POST', '/authentication/flows', emptyFlow(placeholder));
    await bind(realm, placeholder);
    await deleteFlow(realm, to.browserFlow);
    const meanwhile = await whileEmpty.goOn();
    await createFlow(realm, to);
    await bind(realm, to.browserFlow);
    await deleteFlow(realm, placeholder);
    return [
      { when: 'while the empty flow is bound', counts: meanwhile },
      { when: 'after the flow is there again', counts: await whenDone.goOn() },
    ];
  } finally {
    await rig.close();
  }
}

/** @returns the alias that is bound then */
async function bindFirst(rig: FlowRig): Promise<string> {
  must(await rig.run('writePolicy'));
  must(await rig.run('bindCandidate', { command: bindCommand(rig, await built(rig)) }));
  return rig.names[0] ?? '';
}

function must(outcome: { readonly kind: string }): void {
  if (outcome.kind !== 'written') throw new Error(JSON.stringify(outcome));
}

function emptyFlow(alias: string) {
  return { alias, description: '', providerId: 'basic-flow', topLevel: true, builtIn: false };
}

async function bind(realm: RealmUnderTest, browserFlow: string): Promise<void> {
  await realm.ask('PUT', '', { ...(await realm.ask<object>('GET', '')), browserFlow });
}

async function deleteFlow(realm: RealmUnderTest, alias: string): Promise<void> {
  const flows = await realm.ask<FlowRepresentation[]>('GET', '/authentication/flows');
  await realm.ask('DELETE', `/authentication/flows/${flows.find((flow) => flow.alias === alias)?.id ?? ''}`);
}

/** As any tool does it: row after row, each DISABLED until its requirement is set. */
async function createFlow(realm: RealmUnderTest, of: DesiredState): Promise<void> {
  const path = (alias: string) => `/authentication/flows/${encodeURIComponent(alias)}/executions`;
  await realm.ask('POST', '/authentication/flows', emptyFlow(of.browserFlow));
  const parents = [of.browserFlow];
  for (const { row, configAlias } of declaredRows(of)) {
    const parent = parents[row.level] ?? '';
    if (row.kind === 'flow') {
      await realm.ask('POST', `${path(parent)}/flow`, { alias: row.alias, type: 'basic-flow', description: '' });
      parents[row.level + 1] = row.alias;
    } else {
      await realm.ask('POST', `${path(parent)}/execution`, { provider: row.name });
    }
    const rows = await realm.ask<ExecutionRow[]>('GET', path(parent));
    const added = rows.filter(({ level }) => level === 0).at(-1);
    if (added === undefined) throw new Error(`${parent} has no row`);
    await realm.ask('PUT', path(parent), { id: added.id, requirement: row.requirement, priority: added.priority });
    if (configAlias !== null) {
      const config = { alias: configAlias, config: row.config };
      await realm.ask('POST', `/authentication/executions/${added.id}/config`, config);
    }
  }
}
