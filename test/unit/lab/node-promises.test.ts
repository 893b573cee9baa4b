import { describe, expect, test } from 'vitest';
import { brokenPromises, type Fact, type SeenLock, type SeenNode } from '../../lab/node-promises.ts';

/* The observer of lab tests is only worth what it notices: each promise is broken here once, in a story of its own. */

const calm: SeenNode = {
  ready: true,
  unschedulable: false,
  mark: null,
  bootId: 'one',
  lastVisit: null,
  writtenAt: null,
};
const cordoned = { unschedulable: true, mark: 'c/r', writtenAt: '10:00:00' } as const;
const held: SeenLock = {
  ...{ campaign: 'c', run: 'r', node: 'n1', phase: 'Locking', undo: 'kubectl …', startedAt: 1, step: 0 },
  ...{ rebooting: false, givingUp: null },
};

/** Facts in their order, as a cluster writes them. */
function story(): {
  facts: Fact[];
  node(name: string, changes?: Partial<SeenNode> | null): void;
  lock(changes?: Partial<SeenLock> | null, ours?: boolean): void;
} {
  const facts: Fact[] = [];
  const nodes = new Map<string, SeenNode>();
  let last: SeenLock | null = null;
  const tell = {
    facts,
    node(name: string, changes: Partial<SeenNode> | null = {}) {
      const node = changes === null ? null : { ...(nodes.get(name) ?? calm), ...changes };
      if (node !== null) nodes.set(name, node);
      facts.push({ kind: 'node', revision: facts.length, name, node });
    },
    lock(changes: Partial<SeenLock> | null = {}, ours = true) {
      const step: number = last === null ? 0 : last.step + 1;
      last = changes === null ? null : { ...held, ...last, step, ...changes };
      facts.push({ kind: 'lock', revision: facts.length, lock: last, ours });
    },
  };
  for (const name of ['n1', 'n2', 'n3']) tell.node(name);
  tell.lock(null);
  return tell;
}

/** As far as that n1 is cordoned under its lock. */
function begun(): ReturnType<typeof story> {
  const tell = story();
  for (const phase of ['Locking', 'Gating', 'Cordoning']) tell.lock({ phase });
  tell.node('n1', cordoned);
  return tell;
}

/** As far as that n1 is up again with another boot. */
function rebooted(bootId = 'two'): ReturnType<typeof story> {
  const tell = begun();
  tell.lock({ phase: 'LastCheck' });
  tell.lock({ phase: 'Rebooting', rebooting: true });
  tell.node('n1', { ready: false });
  tell.lock({ phase: 'Returning' });
  tell.node('n1', { ready: true, bootId });
  tell.lock({ phase: 'Checking' });
  return tell;
}

const givenBack = { unschedulable: false, mark: null, lastVisit: 'now', writtenAt: '10:05:00' } as const;

describe('the observer of nodes finds nothing wrong', () => {
  test('with a turn from its lock to the release', () => {
    const tell = rebooted();
    tell.lock({ phase: 'Uncordoning' });
    tell.node('n1', givenBack);
    tell.lock({ phase: 'Settling' });
    tell.lock(null);
    expect(brokenPromises(tell.facts)).toEqual([]);
  });

  test('with a node that is given back before its reboot', () => {
    const tell = begun();
    tell.lock({ phase: 'Restoring' });
    tell.node('n1', givenBack);
    tell.lock(null);
    expect(brokenPromises(tell.facts)).toEqual([]);
  });

  test('with nodes that fail, and people who cordon and uncordon, and take the lock away', () => {
    const tell = begun();
    tell.node('n2', { ready: false });
    tell.node('n3', { unschedulable: true });
    tell.lock(null, false);
    tell.node('n1', { unschedulable: false });
    expect(brokenPromises(tell.facts)).toEqual([]);
  });

  test('with a node that goes out after the gates were read, which only the next reading sees', () => {
    const tell = story();
    tell.lock({ phase: 'Gating' });
    tell.node('n2', { ready: false });
    tell.lock({ phase: 'Cordoning' });
    tell.node('n1', cordoned);
    expect(brokenPromises(tell.facts)).toEqual([]);
  });

  test('with a lock that a person releases by the command for it, and whose node stays as it is', () => {
    const tell = rebooted();
    tell.lock({ phase: 'Releasing', givingUp: 'ReleasedByHand' });
    tell.lock(null);
    expect(brokenPromises(tell.facts)).toEqual([]);
  });
});

describe('the observer of nodes tells', () => {
  const finds = (tell: ReturnType<typeof story>, what: string) => {
    expect(brokenPromises(tell.facts)).toEqual([expect.stringContaining(what)]);
  };

  test('that a second node is taken out', () => {
    const tell = begun();
    tell.lock(null, false);
    tell.lock({ phase: 'Cordoning', node: 'n2', startedAt: 2 });
    tell.node('n2', cordoned);
    expect(brokenPromises(tell.facts)).toContainEqual(expect.stringContaining('n1 and n2 are out at once'));
  });

  test('that a node is cordoned without the lock', () => {
    const tell = story();
    tell.node('n1', cordoned);
    finds(tell, 'nobody holds the lock');
  });

  test('that a node is cordoned under the lock of another', () => {
    const tell = story();
    tell.lock({ phase: 'Cordoning', node: 'n2' });
    tell.node('n1', cordoned);
    finds(tell, 'under the lock of n2');
  });

  test('that a node is cordoned before the lock says so', () => {
    const tell = story();
    tell.lock({ phase: 'Gating' });
    tell.node('n1', cordoned);
    finds(tell, 'while the lock says Gating');
  });

  test('that a node is cordoned in the name of another run', () => {
    const tell = story();
    tell.lock({ phase: 'Cordoning' });
    tell.node('n1', { ...cordoned, mark: 'c/other' });
    finds(tell, 'cordoned by c/other');
  });

  test('that a node is cordoned while another is not Ready, or cordoned by a person', () => {
    for (const out of [{ ready: false }, { unschedulable: true }]) {
      const tell = story();
      tell.node('n2', out);
      tell.lock({ phase: 'Gating' });
      tell.lock({ phase: 'Cordoning' });
      tell.node('n1', cordoned);
      finds(tell, 'n1 is cordoned while n2 was out');
    }
  });

  test('that a node is to be rebooted while another has gone out', () => {
    const tell = begun();
    tell.node('n2', { ready: false });
    tell.lock({ phase: 'LastCheck' });
    tell.lock({ phase: 'Rebooting', rebooting: true });
    finds(tell, 'n1 is to be rebooted while n2 was out');
  });

  test('that a node is uncordoned on the boot on which it was cordoned', () => {
    const tell = rebooted('one');
    tell.lock({ phase: 'Uncordoning' });
    tell.node('n1', givenBack);
    finds(tell, 'on the boot on which it was cordoned');
  });

  test('that a node is uncordoned before it is checked', () => {
    const tell = rebooted();
    tell.node('n1', givenBack);
    finds(tell, 'while the lock says Checking');
  });

  test('that a node is uncordoned as rebooted, and was never to be', () => {
    const tell = begun();
    tell.lock({ phase: 'Uncordoning' });
    tell.node('n1', { ...givenBack, bootId: 'two' });
    finds(tell, 'no reboot was intended');
  });

  test('that a node is put back as it was though it was told to reboot', () => {
    const tell = rebooted();
    tell.lock({ phase: 'Restoring' });
    tell.node('n1', givenBack);
    finds(tell, 'as if it had not been told to reboot');
  });

  test('that a node is uncordoned without its lock, with or without the note of it', () => {
    for (const note of [{}, { lastVisit: null }]) {
      const tell = rebooted();
      tell.lock(null, false);
      tell.node('n1', { ...givenBack, ...note });
      finds(tell, 'without its lock');
    }
  });

  test('that the lock is given back while its node is out', () => {
    const tell = begun();
    tell.lock(null);
    finds(tell, 'the lock is given back while n1 carries our mark');
  });

  test('that the lock of another is taken', () => {
    const tell = begun();
    tell.lock({ campaign: 'd', node: 'n2' });
    finds(tell, 'the lock of c for n1 is overwritten by d for n2');
  });

  test('that a write to the lock comes late', () => {
    const tell = begun();
    tell.lock({ phase: 'Gating', step: 1 });
    finds(tell, 'the lock goes back from step 2 to 1');
  });

  test('that the lock says nothing of the way out', () => {
    const tell = story();
    tell.lock({ undo: ' \n' });
    finds(tell, 'nothing of the way out');
  });
});
