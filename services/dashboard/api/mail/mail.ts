/** What is sent: text only. Its links sign somebody in, so that it must never be logged. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** How mail leaves the dashboard. */
export interface MailSender {
  /** @throws Error when the mail could not be handed over; the message holds nothing of it */
  send(mail: Mail): Promise<void>;
  close(): void;
}
