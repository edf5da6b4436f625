import SwaggerParser from '@apidevtools/swagger-parser';
import { CATALOGUE, PRODUCTS } from '../support/catalogue';
import { buildDocument } from '../../services/openapi/build-document';
import { SERVICES } from '../../services/registry';

interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly security: Record<string, string[]>[];
  readonly parameters?: { name: string; in: string }[];
  readonly requestBody?: { content: Record<string, { example?: unknown }> };
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
}

const document = JSON.parse(JSON.stringify(buildDocument('https://api.example.com', CATALOGUE))) as {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
};

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    // The parser resolves references in place: it gets a copy.
    await expect(SwaggerParser.validate(JSON.parse(JSON.stringify(document)))).resolves.toBeDefined();
  });

  it('names the gateway that it was made for, and no other', () => {
    expect(document.servers).toEqual([{ url: 'https://api.example.com' }]);
  });

  it.each(PRODUCTS.flatMap(({ id, routes }) => routes.map(({ method, path }): [string, string, string] => [method, path, id])))(
    'has %s %s of %s',
    (method, path, product) => {
      const methods = document.paths[path] ?? {};
      const expected = method === 'ANY' ? ['get', 'post'] : [method.toLowerCase()];
      expect(Object.keys(methods).length).toBeGreaterThan(0);
      expect(expected).toEqual(expect.arrayContaining(Object.keys(methods)));
      for (const operation of Object.values(methods)) expect(operation.tags).toEqual([product]);
    },
  );

  it('has nothing that no service answers', () => {
    const served = Object.values(SERVICES).flatMap((service) => service.routes.map(({ path }) => path as string));
    expect(Object.keys(document.paths).sort()).toEqual(served.sort());
  });

  it.each(operations.map(({ path, method, operation }): [string, string, Operation] => [method, path, operation]))(
    'tells of %s %s what it does, who may call it and how it refuses',
    (_method, path, operation) => {
      expect(operation.summary).not.toBe('');
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '401', '429', '503']));
      expect(operation.responses['200']?.content).not.toEqual({});
      const ways = operation.security.map((way) => Object.keys(way)[0]);
      expect(ways).toEqual(path.startsWith('/app') ? ['apiKeyHeader'] : ['apiKeyHeader', 'bearer', 'apiKeyQuery']);
    },
  );

  it('keeps Aadhaar numbers and OTPs out of URLs', () => {
    for (const { path, method, operation } of operations) {
      if (!path.startsWith('/aadhaar/')) continue;
      expect(method).toBe('post');
      expect(operation.parameters ?? []).toEqual([]);
    }
  });

  it('gives every operation an id of its own', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
