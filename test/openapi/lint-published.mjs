// Prints what `redocly lint` finds in a document against the specification alone, as JSON: `rule: message` of each.
import { createConfig, lint } from '@redocly/openapi-core';

const problems = await lint({ ref: process.argv[2], config: await createConfig({ extends: ['spec'] }) });
process.stdout.write(JSON.stringify([...new Set(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`))]));
