import {
  isGrpcDeadlineError,
  isGrpcServiceError,
  QueryNotRegisteredError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

/** The gRPC status codes that mean something to people here. */
const codes = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  failedPrecondition: 9,
  unimplemented: 12,
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
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)) return silent(where);
  if (error instanceof QueryNotRegisteredError) {
    return new CliError(exitCodes.undetermined, `the worker does not know what was asked; it is of another version`);
  }
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

function silent(where: { readonly namespace: string }): CliError {
  return new CliError(
    exitCodes.undetermined,
    `no worker answered in time in namespace ${where.namespace}; whether it takes effect once one runs is not known: start one (holdfast worker), then look (holdfast status)`,
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
