// What `redocly lint` says of the OpenAPI document that the build wrote: with its recommended rules, and a warning is an error.
import { join } from 'node:path';
import { createConfig, formatProblems, lint } from '@redocly/openapi-core';

const ref = join(import.meta.dirname, '..', '..', 'dist', 'services', 'openapi', 'document.json');
const config = await createConfig({ extends: ['recommended'] });
const problems = await lint({ ref, config });
formatProblems(problems, { format: 'codeframe', version: '', totals: { errors: 0, warnings: 0, ignored: 0 } });
process.exitCode = problems.length === 0 ? 0 : 1;
