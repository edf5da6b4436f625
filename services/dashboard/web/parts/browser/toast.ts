import { notifications } from '@mantine/notifications';

/** Tells the result of an act, to screen readers too. Never a secret. */
export function toast(message: string): void {
  notifications.show({ message, color: 'indigo', withBorder: true, closeButtonProps: { 'aria-label': 'Close the message' } });
}
