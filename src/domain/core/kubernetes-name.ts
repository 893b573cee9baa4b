import { z } from 'zod';

/** Names as a spec gives them (RFC 1123, by which Kubernetes names its objects). */

/** Of a namespace, a container. */
export const dnsLabel = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'expected a Kubernetes name: lower-case letters, digits and -')
  .max(63);

/** Of most other objects. */
export const dnsName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'expected a Kubernetes name: lower-case letters, digits, - and .')
  .max(253);
