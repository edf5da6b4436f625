import { startTracing } from '../../plugins/tracing/start-tracing';

jest.mock('@opentelemetry/sdk-node', () => {
  throw new Error('OpenTelemetry was loaded');
});

const start = (env: Record<string, string>) => startTracing({ serviceName: 'test', env, log: { warn: () => undefined } });

describe('tracing', () => {
  it.each([
    ['without an endpoint', {}],
    ['with an empty one', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
    ['when it is switched off', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }],
  ])('is off and loads nothing %s', async (_, env) => {
    expect(await start({ ...env })).toBeUndefined();
  });

  it('loads OpenTelemetry when there is an endpoint', async () => {
    await expect(start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })).rejects.toThrow('OpenTelemetry was loaded');
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'user:hidden@collector' }, 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_SAMPLER_ARG: '5 %' }, 'OTEL_TRACES_SAMPLER_ARG must be a number'],
  ])('refuses settings that it cannot use, without repeating them', async (env, message) => {
    const error = await start({ ...env }).catch(String);
    expect(error).toContain(message);
    expect(error).not.toMatch(/hidden|5 %/);
  });
});
