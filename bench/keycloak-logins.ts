// What becomes of people who are on a page of the login while it is changed: by Holdfast, and by deleting and recreating
// the bound flow, as other tools do it. On a real Keycloak.
import { cpus } from 'node:os';
import { heldPages } from '../test/activities/keycloak/held-login.ts';
import { sumOf, type HeldCount } from '../test/activities/keycloak/held-users.ts';
import {
  throughHoldfast,
  throughRecreation,
  type ThroughChange,
} from '../test/activities/keycloak/logins-through-change.ts';
import { attachLab, startLab } from '../test/lab/lab.ts';
import { keycloakOf } from '../test/lab/parts/keycloak.ts';

const EACH = Number(process.env.HOLDFAST_BENCH_LOGINS ?? 50);

const running = process.env.HOLDFAST_LAB_DIR;
const lab = running === undefined ? await startLab({ parts: ['keycloak'] }) : await attachLab(running);
try {
  const access = await keycloakOf(lab.env);
  const holdfast = await throughHoldfast(access, EACH);
  const recreation = await throughRecreation(access, EACH);
  console.table([...rows('Holdfast', holdfast), ...rows('delete and recreate', recreation)]);
  console.log(
    `${EACH} logins held at each page; "completed / asked again / error page" for each page, then all together`,
  );
  console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown processor'}`);
  const failed = holdfast.some(({ counts }) => sumOf(counts).errorPage + sumOf(counts).elsewhere > 0);
  const disturbed = holdfast.slice(0, 2).some(({ counts }) => sumOf(counts).completed < EACH * heldPages.length);
  if (failed || disturbed) process.exitCode = 1;
} finally {
  if (running === undefined) await lab.stop();
}

function rows(way: string, moments: readonly ThroughChange[]): Record<string, unknown>[] {
  return moments.map(({ when, counts }) => {
    const row: Record<string, unknown> = { way, 'goes on': when };
    for (const page of heldPages) row[page] = shown(counts[page]);
    return { ...row, all: shown(sumOf(counts)) };
  });
}

function shown({ completed, askedAgain, errorPage, elsewhere }: HeldCount): string {
  return [completed, askedAgain, errorPage + elsewhere].join(' / ');
}
