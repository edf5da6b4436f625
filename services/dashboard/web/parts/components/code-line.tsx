import { Group, Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { CopyButton } from './copy-button';

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
