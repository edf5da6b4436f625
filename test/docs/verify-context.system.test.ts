import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseKeySet, parseProductKeys } from '../../plugins/core/proof/context-keys';
import { createContextKeys, verifyContext } from '../../plugins/core/proof/verify-context';
import { createContextVectors, type ContextVectors } from '../support/context-vectors';
import { ensurePackages } from '../support/debian-packages';
import { runFolder } from '../support/run-folder';

const root = join(__dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'verify-context.md'), 'utf8');
const vectorsFile = join(root, 'test', 'fixtures', 'context-vectors.json');
const vectors = JSON.parse(readFileSync(vectorsFile, 'utf8')) as ContextVectors;
const wanted = Object.fromEntries(vectors.tokens.map(({ name, valid }) => [name, valid ? '0197f0a2-0000-7000-8000-000000000001' : null]));
const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(runFolder(), 'tollgate-verify-'));
  const python = ['jwt', 'cryptography'] as const;
  const files = python.map((name) => `/usr/lib/python3/dist-packages/${name}/__init__.py` as const);
  await ensurePackages(['python3', ...files, 'php'], 'The examples of docs/verify-context.md');
});

/** An example, which stands in a file of its own, beside the page that links to it. */
function snippet(file: string): string {
  if (!page.includes(`(examples/${file})`)) throw new Error(`the page does not show ${file}`);
  return readFileSync(join(root, 'docs', 'examples', file), 'utf8');
}

interface Program {
  readonly command: string;
  readonly example: string;
  readonly args?: readonly string[];
  readonly file: string;
  /** Prints a JSON object: by the name of each vector the `sub` of its claims, or null. */
  readonly ending: string;
  /** True when everything is there that the example needs. */
  readonly isPresent?: () => boolean;
}

const GSON = '/usr/share/java/gson.jar';
const starts = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

const PROGRAMS: Readonly<Record<string, Program>> = {
  javascript: {
    command: process.execPath,
    example: 'verify_context.cjs',
    file: 'verify.cjs',
    ending: `const vectors = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'));
const results = vectors.tokens.map(({ name, token }) => [name, verifyContext(token, vectors.keySet, vectors.product)?.sub ?? null]);
console.log(JSON.stringify(Object.fromEntries(results)));`,
  },
  python: {
    // Debian's own, which Debian's packages belong to.
    command: '/usr/bin/python3',
    example: 'verify_context.py',
    file: 'verify.py',
    ending: `import sys
vectors = json.load(open(sys.argv[1], encoding="utf-8"))
results = {each["name"]: verify_context(each["token"], vectors["keySet"], vectors["product"]) for each in vectors["tokens"]}
print(json.dumps({name: claims and claims["sub"] for name, claims in results.items()}))`,
  },
  php: {
    command: 'php',
    example: 'verify_context.php',
    file: 'verify.php',
    ending: `$vectors = json_decode(file_get_contents($argv[1]), true);
$results = [];
foreach ($vectors['tokens'] as $each) {
    $results[$each['name']] = verifyContext($each['token'], $vectors['keySet'], $vectors['product'])['sub'] ?? null;
}
echo json_encode($results);`,
  },
  go: {
    command: 'go',
    args: ['run'],
    example: 'verify_context.go',
    file: 'verify.go',
    isPresent: () => starts('go', 'version'),
    ending: `
type vectorFile struct {
	Product string
	KeySet  KeySet
	Tokens  []struct{ Name, Token string }
}

func main() {
	text, _ := os.ReadFile(os.Args[1])
	var vectors vectorFile
	_ = json.Unmarshal(text, &vectors)
	results := map[string]any{}
	for _, each := range vectors.Tokens {
		results[each.Name] = nil
		if claims := VerifyContext(each.Token, vectors.KeySet, vectors.Product); claims != nil {
			results[each.Name] = claims.Sub
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(results)
}`,
  },
  java: {
    command: 'java',
    args: ['-cp', GSON],
    example: 'TollgateContext.java',
    file: 'Verify.java',
    isPresent: () => existsSync(GSON) && starts('javac', '-version'),
    ending: '',
  },
};

/** Java runs the first class of a file, and Go's imports stand together. */
function sourceOf(language: string, { ending, example }: Program): string {
  const text = snippet(example);
  if (language === 'go') return `${text.replace('"strings"', '"os"\n\t"strings"')}${ending}`;
  if (language !== 'java') return `${text}\n${ending}\n`;
  const main = `class Verify {
  public static void main(String[] args) throws java.io.IOException {
    JsonObject vectors = JsonParser.parseString(java.nio.file.Files.readString(java.nio.file.Path.of(args[0]))).getAsJsonObject();
    JsonObject results = new JsonObject();
    for (JsonElement each : vectors.getAsJsonArray("tokens")) {
      String token = each.getAsJsonObject().get("token").getAsString();
      JsonObject claims = TollgateContext.verify(token, vectors.getAsJsonObject("keySet"), vectors.get("product").getAsString());
      results.add(each.getAsJsonObject().get("name").getAsString(), claims == null ? null : claims.get("sub"));
    }
    System.out.println(new com.google.gson.GsonBuilder().serializeNulls().create().toJson(results));
  }
}
`;
  return text.replace('class TollgateContext', `${main}\nclass TollgateContext`);
}

describe('the page about verifying proofs', () => {
  for (const [language, program] of Object.entries(PROGRAMS)) {
    const isPresent = program.isPresent?.() ?? true;
    if (!isPresent) console.warn(`skipped: this machine has nothing that runs the example in ${language}`);
    (isPresent ? it : it.skip)(`shows how to do it in ${language}`, async () => {
      const { command, args = [], file } = program;
      writeFileSync(join(folder, file), sourceOf(language, program));
      const { stdout } = await run(command, [...args, join(folder, file), vectorsFile], { timeout: 120_000 });
      expect(JSON.parse(stdout)).toEqual(wanted);
    });
  }

  it('has vectors as its generator writes them', () => {
    expect(vectors).toEqual(createContextVectors());
  });

  it('has vectors that the services of this project judge alike', () => {
    const ofType = (type: string): string =>
      JSON.stringify({ keys: vectors.keySet.keys.filter((key) => 'kty' in key && key.kty === type) });
    const keys = createContextKeys([...parseKeySet(ofType('OKP')), ...parseProductKeys(ofType('oct'))], []);
    const expected = { products: [vectors.product], nowSeconds: Date.now() / 1000 };
    const verdicts = vectors.tokens.map(({ name, token }) => {
      const verdict = verifyContext(token, keys, expected);
      return [name, verdict.ok ? verdict.context.customerId : null];
    });
    expect(Object.fromEntries(verdicts)).toEqual(wanted);
  });
});
