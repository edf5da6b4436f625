/** Node's and PostgreSQL's codes for "not now": no connection, a server that starts or stops, no room, a time-out, a deadlock. */
const AWAY =
  /^(E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND|NOENT)|08...|53...|57P0.|57014|40001|40P01|55P03)$/;
/** pg's own errors have no code. */
const AWAY_TEXT =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed)/;
const DEEPEST_CAUSE = 4;

/** True for an error that says that PostgreSQL did not answer, and may answer the same question soon. */
export function isDatabaseAway(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < DEEPEST_CAUSE; depth++) {
    const code: unknown = Reflect.get(each, 'code');
    if ((typeof code === 'string' && AWAY.test(code)) || AWAY_TEXT.test(each.message)) return true;
    if (each instanceof AggregateError && each.errors.some((one) => isDatabaseAway(one))) return true;
    each = each.cause;
  }
  return false;
}
