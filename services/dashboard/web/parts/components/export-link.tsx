import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { type ReactNode } from 'react';

/** Saves what a list shows as a file. @param href of the CSV */
export function ExportLink({ href }: { readonly href: string }): ReactNode {
  return (
    <Button component="a" href={href} download variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
      Export CSV
    </Button>
  );
}
