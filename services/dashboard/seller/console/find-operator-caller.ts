import { type FastifyReply, type FastifyRequest } from 'fastify';
import { findOperator } from '../../../selling/operators/find-operator';
import { type CallerTools, findUser } from '../../sign-in/find-caller';
import { type OperatorCaller } from '../../http/callers';
import { Refusal } from '../../http/refusal';

/**
 * The operator who calls. A session of an account with a second factor has passed it: all others ended when it was turned on.
 * @throws Refusal 401 `not_signed_in`, 403 `operators_only`, 403 `second_factor_missing`
 */
export async function findOperatorCaller(request: FastifyRequest, reply: FastifyReply, tools: CallerTools): Promise<OperatorCaller> {
  const { id, email, hasSecondFactor } = await findUser(request, reply, tools);
  if (!(await findOperator(tools.db, { id }))) throw new Refusal('operators_only');
  if (!hasSecondFactor) throw new Refusal('second_factor_missing');
  return { id, email, actor: { name: `operator:${email}`, from: request.ip } };
}
