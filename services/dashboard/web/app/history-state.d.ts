import '@tanstack/react-router';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The address that was just typed; kept out of the URL. */
    email?: string;
  }
}
