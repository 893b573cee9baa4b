import { createKubernetes } from '../../activities/kubernetes/create.ts';
import type { AccessReview, KubernetesClient, KubernetesConfig } from '../../activities/kubernetes/port.ts';
import { mapBounded } from '../../activities/release/map-bounded.ts';
import type { Mode } from '../../domain/core/mode.ts';
import { fail, pass, unmeasured, type Reading, type Unmeasured, type Verdict } from '../../domain/core/verdict.ts';
import type { Check } from './check.ts';
import { describeRight } from './release-rights.ts';

/** What is to be looked at in one cluster. */
export interface ClusterNeeds {
  readonly config: KubernetesConfig;
  /** The mode that is wanted: what Enforce alone needs is wrong only then. */
  readonly mode: Mode;
  readonly read: readonly AccessReview[];
  readonly write: readonly AccessReview[];
  /** The folders that grant what is read and what is written. */
  readonly manifests: { readonly read: string; readonly write: string };
}

const AT_ONCE = 10;
/** How many missing rights are named. */
const NAMED = 6;

/** The API server, and what this identity may do there; nothing is written. */
export async function kubernetesChecks(needs: ClusterNeeds): Promise<readonly Check[]> {
  const { config, mode } = needs;
  const name = `cluster ${config.name}`;
  let kubernetes: KubernetesClient;
  try {
    kubernetes = await createKubernetes(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const verdict = unmeasured(name, 'kubeconfig', 'missing', message);
    return [{ name, verdict, fix: 'set KUBECONFIG, or name it in the worker configuration (--config)' }];
  }
  try {
    const version = await kubernetes.version();
    if (version.kind === 'unmeasured') {
      return [{ name, verdict: version, fix: 'kubectl version tells whether it is the server or the kubeconfig' }];
    }
    return [
      { name, verdict: pass(`version ${version.value}`), fix: null },
      {
        name: `${name}: reads`,
        verdict: await rights(kubernetes, needs.read),
        fix: `kubectl apply -k ${needs.manifests.read}, or bind its roles to this identity`,
      },
      ...(needs.write.length === 0
        ? []
        : [
            {
              name: `${name}: writes`,
              verdict: forMode(await rights(kubernetes, needs.write), mode),
              fix: `kubectl apply -k ${needs.manifests.write}, or bind its roles to this identity; Shadow does without`,
            },
          ]),
    ];
  } finally {
    await kubernetes.close();
  }
}

async function rights(kubernetes: KubernetesClient, reviews: readonly AccessReview[]): Promise<Verdict> {
  const answers = await mapBounded(reviews, AT_ONCE, (review) => kubernetes.can(review));
  const unread = answers.find(isUnmeasured);
  if (unread !== undefined) return unread;
  const lacking = reviews.filter((_, index) => !isAllowed(answers[index])).map(describeRight);
  if (lacking.length === 0) return pass(`this identity may do all ${reviews.length} things that are needed`);
  const more = lacking.length > NAMED ? ` and ${lacking.length - NAMED} more` : '';
  return fail('Denied', `this identity may not: ${lacking.slice(0, NAMED).join(', ')}${more}`);
}

/** Shadow needs no write verb at all: that it has none is as it should be. */
function forMode(verdict: Verdict, mode: Mode): Verdict {
  if (verdict.kind !== 'fail' || mode === 'Enforce') return verdict;
  return pass(
    `${mode} writes nothing; Enforce would also need: ${verdict.message.replace('this identity may not: ', '')}`,
  );
}

function isUnmeasured(answer: Reading<boolean>): answer is Unmeasured {
  return answer.kind === 'unmeasured';
}

function isAllowed(answer: Reading<boolean> | undefined): boolean {
  return answer?.kind === 'read' && answer.value;
}
