import { isGrpcServiceError, QueryNotRegisteredError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { isSilence } from './answer.ts';

/** The gRPC status codes that mean something to people here. */
const codes = {
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  failedPrecondition: 9,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/**
 * What an error of Temporal's client means, in words. Refusals of a workflow are exit code 2; what was not answered is
 * undetermined.
 */
export function explainError(error: unknown, where: { readonly address: string; readonly namespace: string }): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof WorkflowUpdateFailedError) return ofUpdate(error);
  if (error instanceof WorkflowNotFoundError) {
    return new CliError(
      exitCodes.invalid,
      `there is no ${error.workflowId} that runs in namespace ${where.namespace}; holdfast get lists what there is`,
    );
  }
  if (isSilence(error)) return silent(where);
  if (error instanceof QueryNotRegisteredError) {
    return new CliError(exitCodes.undetermined, `the worker does not know what was asked; it is of another version`);
  }
  if (error instanceof NamespaceNotFoundError) return noNamespace(where);
  const status = grpcStatus(error);
  return status === undefined ? error : ofStatus(status.code, status.details, where);
}

function ofUpdate(error: WorkflowUpdateFailedError): CliError {
  const { cause } = error;
  if (cause instanceof ApplicationFailure && cause.type === 'Refused') {
    return new CliError(exitCodes.invalid, `refused: ${cause.message}`);
  }
  return new CliError(exitCodes.undetermined, `it was not carried out: ${cause?.message ?? error.message}`);
}

function noNamespace({ address, namespace }: { readonly address: string; readonly namespace: string }): CliError {
  return new CliError(
    exitCodes.invalid,
    `Temporal at ${address} has no namespace ${namespace}; set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create --namespace ${namespace}`,
  );
}

/** What needs a worker is told by whoever asks it; here it is Temporal itself that is silent. */
function silent(where: { readonly address: string; readonly namespace: string }): CliError {
  return new CliError(
    exitCodes.undetermined,
    `Temporal at ${where.address}, namespace ${where.namespace}, did not answer in time; try again, or see what is wrong: holdfast doctor`,
  );
}

function grpcStatus(error: unknown): { readonly code: number; readonly details: string } | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    if (isGrpcServiceError(e)) return { code: e.code, details: e.details };
  }
  return undefined;
}

function ofStatus(
  code: number,
  details: string,
  where: { readonly address: string; readonly namespace: string },
): CliError {
  const at = `Temporal at ${where.address}, namespace ${where.namespace}`;
  switch (code) {
    case codes.unavailable:
      return new CliError(exitCodes.undetermined, `${at}: the connection was lost (${details}); try again`);
    case codes.unauthenticated:
    case codes.permissionDenied:
      return new CliError(
        exitCodes.undetermined,
        `${at}: access denied (${details}); look at TEMPORAL_API_KEY or the client certificate`,
      );
    case codes.notFound:
      return new CliError(
        exitCodes.invalid,
        `${at}: not found (${details}); set TEMPORAL_NAMESPACE, or create it: temporal operator namespace create -n ${where.namespace}`,
      );
    case codes.failedPrecondition:
      return new CliError(exitCodes.undetermined, `${at}: ${details}; is a worker running? Start one: holdfast worker`);
    case codes.invalidArgument:
      return new CliError(
        exitCodes.invalid,
        `${at} refuses the request: ${details}; holdfast doctor says what is missing`,
      );
    default:
      return new CliError(exitCodes.undetermined, `${at}: ${details}`);
  }
}
