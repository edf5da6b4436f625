import { send } from '../http';

/** One figure of a process's metrics, by its name with labels. @param url of `/metrics` */
export async function readMetric(url: string, name: string): Promise<number> {
  const { text } = await send(url);
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  if (line === undefined) throw new Error(`there is no metric ${name}`);
  return Number(line.slice(name.length + 1));
}
