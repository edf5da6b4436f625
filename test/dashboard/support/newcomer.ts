import { type Locator } from 'playwright-core';
import { type Entrant, openMail } from './entrances';

/** Somebody without an account, on the way to a first call of an own key; what it takes is counted. */
export class Newcomer {
  clicks = 0;
  fields = 0;

  constructor(private readonly who: Entrant) {}

  private async click(target: Locator): Promise<void> {
    await target.click();
    this.clicks += 1;
  }

  private async fill(label: string, text: string): Promise<void> {
    await this.who.page.getByLabel(label, { exact: true }).fill(text);
    this.fields += 1;
  }

  async follow(name: string): Promise<void> {
    await this.click(this.who.page.getByRole('link', { name, exact: true }).first());
  }

  /** On a public page, which calls with the key of the installation. @param operation as `GET /ip` */
  async tryInSandbox(operation: string): Promise<void> {
    const form = this.who.page.getByRole('form', { name: `Try ${operation}`, exact: true });
    await this.click(form.getByRole('button', { name: 'Run it here', exact: true }));
    await form.getByText('Status 200 from the sandbox').waitFor();
  }

  /** From a public page to where the mail is waited for. */
  async signUp(): Promise<void> {
    const { page, email, password } = this.who;
    await this.follow('Sign up');
    await this.fill('Email', email);
    await this.fill('Password', password);
    await this.click(page.getByRole('button', { name: 'Create account', exact: true }));
    await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
  }

  /** Follows the link of the mail, in the browser that signed up. @returns the test key that the overview shows */
  async confirmAddress(): Promise<string> {
    const { page } = this.who;
    await openMail(this.who, 'verify');
    this.clicks += 1;
    return page.getByText(/^tg_test_\w+$/).innerText();
  }

  /** Beside the key that is shown. */
  async makeFirstCall(): Promise<void> {
    const { page } = this.who;
    await this.click(page.getByRole('button', { name: 'Run it here', exact: true }));
    await page.getByText('Status 200').waitFor();
  }
}
