import { resolve } from 'node:path';
import { type Command } from 'commander';
import { hasOnnxRuntime } from '../../services/workers/image/onnx/onnx-runtime';
import { addModel, type KeptModel, listModels, removeModel } from '../models/kept-models';
import { dataFolder, modelsFolder } from '../supervisor/data-folder';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';
import { table } from './output';

const EXAMPLES = `
Examples:
  npx tollgate model add u2net.onnx --sha256 HEX     HEX is the sum that the model's maker publishes
  npx tollgate model list

From its next start, the image worker uses the model that IMAGE_ONNX_MODEL names. docs/products.md has the settings that fit a model.`;

/** @throws CommandError `invalid_argument` */
function parseSha256(text: string): string {
  const hex = text.trim().toLowerCase();
  if (/^[0-9a-f]{64}$/.test(hex)) return hex;
  throw new CommandError('invalid_argument', '--sha256 is 64 hex digits');
}

function runtimeLine(): string {
  return hasOnnxRuntime()
    ? 'onnxruntime-node, which runs large models, is installed.'
    : 'onnxruntime-node, which a model of more than 64 MiB needs, is not installed: npm install onnxruntime-node';
}

function show(models: readonly KeptModel[], used: string | undefined): string {
  const rows = models.map(({ name, file, bytes, sha256, added_at: added }) => [name, bytes, sha256, added, file === used ? 'yes' : null]);
  return [table(['model', 'bytes', 'SHA-256', 'added', 'used'], rows), runtimeLine()].join('\n');
}

/** `tollgate model`: ONNX files for background removal, in the data folder. */
export function addModelCommands(program: Command, { root, env, output }: CommandContext): void {
  const folder = modelsFolder(dataFolder(root, env));
  const used = env['IMAGE_ONNX_MODEL'] ? resolve(root, env['IMAGE_ONNX_MODEL']) : undefined;
  const group = program.command('model').description('manage your own models for removing backgrounds');
  finishCommand(group.command('add <file>').description('copy an ONNX model into the data folder after checking its SHA-256'))
    .requiredOption('--sha256 <hex>', 'the SHA-256 that the file must have')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, { sha256 }: { sha256: string }) => {
      const model = await addModel(resolve(file), { folder, sha256: parseSha256(sha256) });
      const isInstalled = hasOnnxRuntime();
      output.result({ ...model, runtime_installed: isInstalled }, () => [`IMAGE_ONNX_MODEL=${model.file}`, runtimeLine()].join('\n'));
    });
  finishCommand(group.command('list').description('show the models, and whether the package that runs them is installed')).action(
    async () => {
      const models = await listModels(folder);
      const result = {
        models: models.map((model) => ({ ...model, used: model.file === used })),
        runtime_installed: hasOnnxRuntime(),
      };
      output.result(result, () => show(models, used));
    },
  );
  finishCommand(group.command('remove <name>').description('delete a model from the data folder')).action(async (name: string) => {
    await removeModel(name, folder);
    output.result({ removed: name }, () => `${name} is removed.`);
  });
}
