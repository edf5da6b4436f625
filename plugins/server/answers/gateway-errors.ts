import { Counter, type Registry } from 'prom-client';
import { parseAnswerLine, requestIdOfLine } from '../../core/access/answer-line';

/**
 * Counts the responses of 500 to 599 that a gateway gave in place of an API, by status. A request whose decision the gateway could not read
 * is in no other figure: there it counts as admitted, or was never asked about.
 */
export class GatewayErrors {
  private readonly byStatus = new Map<number, number>();

  /** @param lines from a gateway, with line feeds between them. Pass each line only once, whoever decided on its request. */
  hear(lines: string): void {
    for (const line of lines.split('\n')) {
      // Most lines need no further reading.
      if (line[requestIdOfLine(line).length + 1] !== '5') continue;
      const reported = parseAnswerLine(line);
      if (reported && !reported.isFromApi) this.byStatus.set(reported.status, (this.byStatus.get(reported.status) ?? 0) + 1);
    }
  }

  show(registry: Registry): void {
    const { byStatus } = this;
    new Counter({
      name: 'tollgate_gateway_errors_total',
      help: 'Responses of 500 to 599 by the gateway itself instead of an API, by status.',
      labelNames: ['status'] as const,
      registers: [registry],
      collect() {
        this.reset();
        for (const [status, count] of byStatus) this.inc({ status }, count);
      },
    });
  }
}
