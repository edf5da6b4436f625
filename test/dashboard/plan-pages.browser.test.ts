import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();

describe('a plan that is given on request', () => {
  it('is asked for with its price, shows as requested, and is withdrawn', async () => {
    await stage.open('/plans');
    await stage.button('Request Star of Glead').click();
    await stage.button('Request Star for ₹999.00 a month').click();
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(stage.changes('POST', '/api/plan-requests')[0]?.body).toMatchObject({
      product: 'api-glead',
      plan: 'Star',
      terms: { price: '999.00', currency: 'INR' },
    });
    await stage.button('Withdraw the request: Glead').click();
    await stage.button('Withdraw the request').click();
    await stage.button('Request Star of Glead').waitFor();
  });

  it('says why it was declined, and can be asked for again', async () => {
    await stage.open('/plans');
    await stage.page.getByText('Please send us your company’s registration first.').waitFor();
    expect(await stage.button('Request Star of Aadhaar').isVisible()).toBe(true);
  });
});

describe('changing a plan', () => {
  async function subscription(): Promise<{ id: string; plan: string | null }> {
    const { products } = await stage.read<{ products: { id: string; subscription: { id: string; plan: string | null } }[] }>('/products');
    return products.find(({ id }) => id === 'api-ip')?.subscription ?? { id: '', plan: '' };
  }
  const planPath = async (): Promise<string> => `/api/subscriptions/${(await subscription()).id}/plan`;

  it('shows both plans with their prices, warns of a limit that falls, and sends what was agreed to', async () => {
    await stage.open('/plans');
    await stage.button('Change IP lookup to Base').click();
    const row = (name: RegExp) => stage.page.getByRole('dialog').getByRole('row', { name });
    await row(/Plan Star Base/).waitFor();
    await row(/Requests a day 100,000 1,000/).waitFor();
    await row(/Price a month ₹499.00 Free/).waitFor();
    await stage.page.getByText('The daily limit falls from 100,000 to 1,000 requests.').waitFor();
    await stage.button('Change to Base for free').click();
    await stage.page.getByText('You have used more than this plan allows').waitFor();
    expect(stage.changes('PUT', await planPath()).at(-1)?.body).toMatchObject({
      plan: null,
      terms: { daily: 1_000, monthly: 30_000, price: null, currency: null },
    });
  });

  it('says that today’s use is above the new limit before anything changes', async () => {
    await stage.open('/plans');
    await stage.button('Change IP lookup to Base').click();
    await stage.button('Change to Base for free').click();
    await stage.page.getByText('You have used more than this plan allows').waitFor();
    expect((await subscription()).plan).toBe('Star');
    await stage.button('Change to Base for free anyway').click();
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await subscription()).plan).toBeNull();
  });
});
