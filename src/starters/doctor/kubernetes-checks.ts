import { createKubernetes } from '../../activities/kubernetes/create.ts';
import type {
  AccessReview,
  KubeObject,
  KubernetesClient,
  KubernetesConfig,
  ListQuery,
  ObjectList,
} from '../../activities/kubernetes/port.ts';
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
  /** Kinds that only the cluster knows how to address: each is listed, as the worker would. */
  readonly lists?: readonly ListQuery[];
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
    return [{ name, verdict, fix: unreachableFix(config) }];
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
      ...(await listChecks(kubernetes, name, needs.lists ?? [])),
    ];
  } finally {
    await kubernetes.close();
  }
}

function unreachableFix({ inCluster }: KubernetesConfig): string {
  return inCluster === true
    ? 'run doctor in the worker’s pod; or, from here, name a kubeconfig in place of inCluster in the worker configuration (--config), or {} for the current context'
    : 'set KUBECONFIG, or name it in the worker configuration (--config)';
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

/** One after the other: what is listed is read in full. */
async function listChecks(
  kubernetes: KubernetesClient,
  cluster: string,
  lists: readonly ListQuery[],
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const query of lists) {
    const { apiVersion, kind, namespace } = query;
    const place = namespace === undefined ? '' : ` in ${namespace}`;
    const found = await kubernetes.list(query);
    checks.push({
      name: `${cluster}: list ${kind}`,
      verdict: listVerdict(found, `${kind} of ${apiVersion}${place}`),
      fix: `grant list of ${kind} of ${apiVersion}${place} to this identity, or change the spec that names it`,
    });
  }
  return checks;
}

/** What is refused, or served by nobody, is wrong; what did not answer is not known. */
function listVerdict(found: Reading<ObjectList<KubeObject>>, what: string): Verdict {
  if (found.kind === 'read') return pass(`this identity may list ${what}; there are ${found.value.items.length}`);
  if (found.why === 'denied') return fail('Denied', `this identity may not list ${what}`);
  return found.why === 'not-served' ? fail('NotServed', found.message) : found;
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
