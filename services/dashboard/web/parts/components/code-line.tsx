import { Button, Group, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { copyText } from '../browser/copy-text';

interface CodeLineProps {
  readonly label: string;
  readonly text: string;
  /** For the copy button, for example `command`. */
  readonly what: string;
  readonly onCopied?: () => void;
}

/** A text to copy. */
export function CodeLine({ label, text, what, onCopied }: CodeLineProps): ReactNode {
  return (
    <div>
      <Group justify="space-between" mb={4} gap="xs">
        <Text size="sm" fw={600}>
          {label}
        </Text>
        <CopyButton text={text} what={what} onCopied={onCopied} />
      </Group>
      <pre className="code-line" tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
    </div>
  );
}

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for example `key`. */
  readonly what: string;
  readonly onCopied?: (() => void) | undefined;
}

/** Copies a text, and reports it in place without growing. */
export function CopyButton({ text, what, onCopied }: CopyButtonProps): ReactNode {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  async function copy(): Promise<void> {
    const isCopied = await copyText(text);
    setOutcome(isCopied ? 'copied' : 'refused');
    if (isCopied) onCopied?.();
    setTimeout(() => setOutcome(undefined), 2_500);
  }
  const label = outcome === 'copied' ? 'Copied' : outcome === 'refused' ? 'Copy manually' : `Copy ${what}`;
  const icon = outcome === 'copied' ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />;
  return (
    <Button variant="default" size="xs" leftSection={icon} onClick={() => void copy()} miw="8rem">
      <span aria-live="polite">{label}</span>
    </Button>
  );
}
