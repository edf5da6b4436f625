/** A command that a page shows. */
export interface PageStep {
  readonly command: string;
  /** What the page shows below it; `…` stands for anything. */
  readonly shown: readonly string[];
}

/** A page's commands in their order. */
export function pageSteps(page: string): PageStep[] {
  const blocks = [...page.matchAll(/```console\n([\s\S]*?)```/g)].map(([, text = '']) => text);
  return blocks.flatMap((text) =>
    text
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command = '', ...shown] = part.trimEnd().split('\n');
        return { command, shown };
      }),
  );
}

/** What a line that a page shows matches. */
export function shownPattern(line: string): RegExp {
  const parts = line.split('…').map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}\\s*$`, 'm');
}
