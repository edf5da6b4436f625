import { type z } from 'zod';
import { type EndpointSpec, type Route } from '../http/define-endpoint';
import { type OperatorCaller } from './find-operator-caller';

/** A route for operators only. */
export type OperatorEndpoint = Route<OperatorCaller>;

/** Types one endpoint for operators: the handler's call follows from the schemas. */
export function defineOperatorEndpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodUnknown,
>(spec: EndpointSpec<OperatorCaller, Params, Query, Body, Answer>): OperatorEndpoint {
  return spec;
}
