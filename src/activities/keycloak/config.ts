import type { Reading } from '../../domain/core/verdict.ts';

/** Who Holdfast is to Keycloak: a client with a service account. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** How one Keycloak server is reached. */
export interface KeycloakConfig {
  /** `https://login.example.com`, with the path below which Keycloak serves where it has one. */
  readonly url: string;
  /** The realm that the client is in: the realm that is worked on, or `master`. */
  readonly tokenRealm: string;
  /** Asked at each renewal of the token, so that a rotated secret is taken up; never kept and never logged. */
  readonly credentials: () => Promise<Reading<ClientCredentials>>;
  /** PEM file with the authority of the server's certificate; the system's stay trusted. */
  readonly caFile?: string;
  /** Http without TLS, where nobody is on the way. [false] */
  readonly plainHttp?: boolean;
  /** For one request, from connecting to the last byte of the answer. [15000] */
  readonly timeoutMs?: number;
  /** Epoch milliseconds [Date.now]. */
  readonly clock?: () => number;
}
