import { openParts, openTogether } from './opened';

it('stops the parts in reverse order', async () => {
  const stopped: string[] = [];
  const parts = openParts();
  for (const name of ['database', 'gateway']) await parts.keep(Promise.resolve(name), (each) => stopped.push(each));
  await parts.close();
  await parts.close();
  expect(stopped).toEqual(['gateway', 'database']);
});

it('stops what is open, and what opens later, when another part cannot be opened', async () => {
  const stopped: string[] = [];
  let open: ((name: string) => void) | undefined;
  const late = new Promise<string>((resolve) => (open = resolve));
  const opening = openTogether(async (parts) => {
    await parts.keep(Promise.resolve('database'), (each) => stopped.push(each));
    await Promise.all([parts.keep(late, (each) => stopped.push(each)), parts.keep(Promise.reject(new Error('no port')), () => undefined)]);
  });
  open?.('gateway');
  await expect(opening).rejects.toThrow('no port');
  expect(stopped).toEqual(['gateway', 'database']);
});

it('stops the others when one cannot be stopped, and says so', async () => {
  const stopped: string[] = [];
  const parts = openParts();
  await parts.keep(Promise.resolve('database'), (each) => stopped.push(each));
  await parts.keep(Promise.resolve('gateway'), () => Promise.reject(new Error('still running')));
  await expect(parts.close()).rejects.toThrow('still running');
  expect(stopped).toEqual(['database']);
});
