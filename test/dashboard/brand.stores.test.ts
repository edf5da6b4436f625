import { deletionMail, keptMail } from '../../services/dashboard/api/mail/account-mails';
import { knownAddressMail, resetMail } from '../../services/dashboard/api/mail/mail-texts';
import { alertMail } from '../../services/dashboard/api/alerts/alert-mail';
import { startDashboard, type TestDashboard } from './support/dashboard';

let dashboard: TestDashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    brand: { name: 'Acme APIs', colour: '#a0b0c0', logo: undefined },
    webFiles: { 'index.html': '<!doctype html><title>Tollgate</title>' },
  });
});
afterAll(() => dashboard.close());

describe('an installation with a name of its own', () => {
  it('shows it on the pages of the app', async () => {
    const { body } = await dashboard.ask({ path: '/keys', headers: { host: 'dashboard.test' } });
    expect(body).toContain('<title>Acme APIs</title>');
    expect(body).not.toContain('Tollgate');
  });

  it('signs its mail with it', async () => {
    await dashboard.signIn('asha@example.com');
    const [mail] = dashboard.mails;
    expect(mail?.subject).toBe('Confirm your email address for Acme APIs');
    expect(mail?.text).toContain('signed up for Acme APIs with');
    expect(mail?.text).not.toContain('Tollgate');
  });

  it('has none of its mails speak of Tollgate', () => {
    const mails = [
      resetMail('a@example.com', 'https://x', 'Acme'),
      knownAddressMail('a@example.com', 'https://x', 'Acme'),
      deletionMail('a@example.com', { erasedAt: new Date(), signInPage: 'https://x', isPersonAlone: false }, 'Acme'),
      keptMail('a@example.com', { isPersonAlone: false }, 'Acme'),
      alertMail({ to: 'a@example.com', alerts: [], timeZone: 'Asia/Kolkata', url: 'https://x', name: 'Acme' }),
    ];
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Reset your Acme password',
      'You already have an Acme account',
      'Your Acme account is being deleted',
      'Your Acme account is kept',
      'Acme',
    ]);
    expect(JSON.stringify(mails)).not.toContain('Tollgate');
  });
});
