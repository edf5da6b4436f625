import { notifications } from '@mantine/notifications';

/** Shows the result of an act, also to screen readers. Never a secret. */
export function toast(message: string): void {
  notifications.show({ message, color: 'indigo', withBorder: true, closeButtonProps: { 'aria-label': 'Close the message' } });
}
