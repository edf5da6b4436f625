import { type Finding, type SecretFacts } from '../report';
import { SECRET_RULES } from '../scan/secret-rules';

/** One finding a kind of secret; whoever has the app has them all. */
export function secretFindings(secrets: readonly SecretFacts[]): Finding[] {
  return SECRET_RULES.flatMap(({ id, severity }): Finding[] => {
    const found = secrets.filter(({ rule }) => rule === id);
    const [first] = found;
    if (!first) return [];
    const more = found.length > 1 ? ` and ${found.length - 1} more` : '';
    return [{ id: `secret_${id}`, severity, title: `The app holds a secret (${id}) in ${first.file}${more}`, section: 'secrets' }];
  });
}
