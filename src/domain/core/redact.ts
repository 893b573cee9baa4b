/**
 * The one scrubber. Every message that leaves for Temporal, a log or a notification goes through it, because errors of
 * HTTP clients and registries carry headers, URLs and bodies. Where a secret cannot be told from prose, prose loses:
 * better a word too many hidden than a password kept in a history.
 */

/** What stands in the place of a secret. */
export const redacted = '[redacted]';

/** Names whose value is a secret whatever it looks like. */
const certain =
  'pass(?:word|wd|phrase)?|pwd|client[-_]?secret|secret[-_]?(?:access[-_]?)?key|private[-_]?key|api[-_]?key|access[-_]?token|refresh[-_]?token|id[-_]?token|identity[-_]?token|registry[-_]?token|auth[-_]?token|session[-_]?token';

/** Names that also occur in sentences, such as "failed to fetch anonymous token: unexpected status". */
const likely = 'token|secret|auth|credentials?|signature';

const headers =
  'proxy-authorization|authorization|set-cookie|cookie|x-api-key|x-vault-token|x-auth-token|private-token';

interface Rule {
  readonly pattern: RegExp;
  readonly replace: (all: string, ...groups: string[]) => string;
}

/** How our own findings go on behind the name of a field: `clientSecret: expected …` hides nothing. */
const finding = 'expected |required field ';

/** A quote, also one that stands escaped inside another string. */
const quote = `\\\\{0,8}["']`;

const rules: readonly Rule[] = [
  // A PEM block, also one that was cut off before its end.
  {
    pattern: /-----BEGIN ([A-Z0-9 ]{1,40})-----[\s\S]*?(?:-----END \1-----|$)/g,
    replace: (_, label = '') => `-----BEGIN ${label}-----${redacted}-----END ${label}-----`,
  },
  // scheme://user:password@host
  {
    pattern: /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]{1,2000}@/gi,
    replace: (_, scheme = '') => `${scheme}${redacted}@`,
  },
  // Webhooks keep their secret in the path.
  {
    pattern:
      /\b(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/)[^\s"'<>]{1,2000}/gi,
    replace: (_, place = '') => place + redacted,
  },
  // Whole header lines, also as JSON or as an object that was printed.
  {
    pattern: new RegExp(
      `\\b(${headers})((?:${quote})?\\s{0,4}[:=]\\s{0,4})(\\[?\\s?${quote})?([^"'\\r\\n\\\\]{1,8000})`,
      'gi',
    ),
    replace: (_, name = '', separator = '', open = '') => name + separator + open + redacted,
  },
  // JSON Web Tokens, wherever they stand.
  { pattern: /\beyJ[\w-]{5,}\.[\w-]{4,}(?:\.[\w-]*){0,3}/g, replace: () => redacted },
  // Tokens that say by their first letters what they are.
  {
    pattern:
      /\b(?:gh[opsur]_|github_pat_|gl(?:pat|ptt|dt|rt)-|xox[abeoprs]-|xapp-|npm_|dckr_(?:pat|oat)_|hv[bsr]\.|sha256~|pypi-|k8s-aws-v1\.|AGE-SECRET-KEY-)[\w.~+/=-]{8,}|\bA[KS]IA[A-Z0-9]{16}\b/g,
    replace: () => redacted,
  },
  // Credentials of a header that stand without its name. Digest is not among them: its own are no single word, and what
  // stands after the word in a sentence is an image's digest.
  {
    pattern: /\b(bearer|basic|negotiate)(\s{1,4})([\w.~+/-]{6,}=*)/gi,
    replace: (all, scheme = '', space = '', value = '') => (looksRandom(value) ? scheme + space + redacted : all),
  },
  // "password": "…", 'password': '…', and the same escaped inside a string.
  {
    pattern: new RegExp(
      `((\\\\{0,8}["'])[\\w.-]{0,60}(?:${certain}|${likely})\\2\\s{0,4}[:=]\\s{0,4})(?:(\\\\{0,8}["'])(?:(?!\\3)[^\\r\\n]){0,8000}(\\3|$)|[\\w.~+/-]{1,8000})`,
      'gi',
    ),
    replace: (_, name = '', _quote, open = '', close = '') => name + open + redacted + close,
  },
  // password=…, --password …, ?access_token=…, password: …
  {
    pattern: new RegExp(
      `((?:${certain})(?:\\s{0,4}[:=]\\s{0,4}|(?<=--[\\w-]{1,60})\\s{1,4}))(?:(["'])[^"'\\r\\n]{0,8000}\\2|(?!\\[redacted|${finding})[^\\s"'&;,)\\]}]{1,8000})`,
      'gi',
    ),
    replace: (_, name = '') => name + redacted,
  },
  // token=…, and token: … where what follows is no word of a sentence.
  {
    pattern: new RegExp(
      `\\b([\\w-]{0,60}(?:${likely})(\\s{0,4}[:=]\\s{0,4}))(["']?)(?!\\[redacted)([^\\s"'&;,)\\]}]{1,8000})`,
      'gi',
    ),
    replace: (all, name = '', separator = '', open = '', value = '') =>
      separator === '=' || looksRandom(value) ? name + open + redacted : all,
  },
];

/**
 * The text without its secrets: credentials in headers and URLs, tokens, PEM blocks, registry credentials and
 * `password=` in their usual forms.
 *
 * @param text any message
 * @param known secrets that the caller holds; they are removed wherever they stand
 */
export function redact(text: string, known: readonly string[] = []): string {
  let clean = text;
  // Longest first: one secret can be the beginning of another. Very short ones would blank out common words.
  for (const secret of [...known].sort((a, b) => b.length - a.length)) {
    if (secret.length >= 4) clean = clean.replaceAll(secret, redacted);
  }
  for (const { pattern, replace } of rules) clean = clean.replace(pattern, replace);
  return clean;
}

const secretName = new RegExp(`^[\\w.-]{0,60}(?:${certain}|${likely}|${headers})$`, 'i');

/**
 * A JSON value without its secrets: each text is scrubbed, and whatever a secret name leads to is replaced whole.
 *
 * @param value plain JSON, without cycles
 */
export function redactJson(value: unknown, known: readonly string[] = []): unknown {
  if (typeof value === 'string') return redact(value, known);
  if (Array.isArray(value)) return value.map((item) => redactJson(item, known));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const secret = secretName.test(name) && (typeof item === 'string' || typeof item === 'number');
      return [name, secret ? redacted : redactJson(item, known)];
    }),
  );
}

/**
 * A JSON value whose sentences for people, its fields `message`, are scrubbed; everything else stays as it is, since
 * programs read it. What was read of the outside goes into Temporal like this.
 */
export function redactMessages<T>(value: T): T {
  return scrubbed(value) as T;
}

function scrubbed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(scrubbed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]: [string, unknown]) => [
      name,
      name === 'message' && typeof item === 'string' ? redact(item) : scrubbed(item),
    ]),
  );
}

/** Random text has digits, padding or capitals in its middle; words of a sentence have none, and are shorter. */
function looksRandom(value: string): boolean {
  // A reason of Kubernetes, as in "container auth: CrashLoopBackOff".
  if (/^(?:[A-Z][a-z]+){2,6}$/.test(value)) return false;
  return /[0-9=+/_]|[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value) || value.length >= 32;
}
