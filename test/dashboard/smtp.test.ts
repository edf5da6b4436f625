import { createServer, type Server } from 'node:net';
import { createSmtpSender } from '../../services/dashboard/api/mail/mail-sender';

/** Just enough of RFC 5321 to take a mail, or to refuse one. */
function startSmtpServer(refusal?: string): Promise<{ server: Server; url: string; received: () => string }> {
  let received = '';
  const server = createServer((socket) => {
    let inMail = false;
    socket.on('error', () => undefined);
    socket.write('220 test\r\n');
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString();
      if (inMail) {
        received += text;
        if (!received.endsWith('\r\n.\r\n')) return;
        inMail = false;
        socket.write('250 taken\r\n');
        return;
      }
      for (const line of text.split('\r\n').filter(Boolean)) {
        if (/^RCPT/.test(line) && refusal) socket.write(refusal);
        else if (/^DATA/.test(line)) {
          inMail = true;
          socket.write('354 go on\r\n');
        } else if (/^QUIT/.test(line)) socket.end('221 bye\r\n');
        else socket.write('250 ok\r\n');
      }
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      resolve({ server, url: `smtp://127.0.0.1:${port}`, received: () => received });
    });
  });
}

const mail = { to: 'asha@example.com', subject: 'Häuser 🚀', text: 'Open:\n\nhttp://dashboard.test/verify?token=very-secret\n' };

describe('mail by SMTP', () => {
  it('arrives with sender, receiver, subject and an unbroken link', async () => {
    const { server, url, received } = await startSmtpServer();
    const sender = createSmtpSender(url, 'tollgate@example.com');
    try {
      await sender.send(mail);
      expect(received()).toContain('From: tollgate@example.com');
      expect(received()).toContain('To: asha@example.com');
      expect(received()).toMatch(/Subject: =\?UTF-8\?/);
      expect(received().replace(/=\r\n/g, '').replaceAll('=3D', '=')).toContain('http://dashboard.test/verify?token=very-secret');
    } finally {
      sender.close();
      server.close();
    }
  });

  it('that is refused says so without a word of the mail or its address', async () => {
    const { server, url } = await startSmtpServer('550 no mailbox for asha@example.com\r\n');
    const sender = createSmtpSender(url, 'tollgate@example.com');
    try {
      const failure = await sender.send(mail).catch((error: unknown) => error);
      expect(failure).toEqual(new Error('the SMTP server did not take a mail (EENVELOPE)'));
      expect((failure as Error).cause).toBeUndefined();
    } finally {
      sender.close();
      server.close();
    }
  });
});
