import { Modal } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly size?: 'md' | 'lg';
  /** False while closing would lose something. The dialog then closes only by its own buttons. */
  readonly mayCloseLightly: boolean;
  readonly hasCloseButton?: boolean;
  readonly children: ReactNode;
}

/** A dialog, rendered only while it is open. When it closes, the focus returns to the element that opened it. */
export function Dialog({ title, onClose, size = 'md', mayCloseLightly, hasCloseButton = true, children }: DialogProps): ReactNode {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // Focus returns after the dialog has let go of it.
      setTimeout(() => opener instanceof HTMLElement && opener.isConnected && opener.focus({ preventScroll: true }));
    },
    [opener],
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={mayCloseLightly}
      closeOnEscape={mayCloseLightly}
      withCloseButton={hasCloseButton}
    >
      {children}
    </Modal>
  );
}
