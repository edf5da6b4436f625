import { fc } from '../../support/fast-check';
import { expectHonest, HonestPayer, paidHistories } from './honest-payer';
import { startRazorpayStage, startStripeStage } from './payment-stages';

const STAGES = { stripe: startStripeStage, razorpay: startRazorpayStage };
/** What a stand-in keeps makes it slow in the end. */
const HISTORIES_A_STAGE = 500;

/**
 * Tries so many histories at a provider's stand-in, by its adapter.
 * @param check what else holds after each
 */
export async function payHonestly(
  provider: keyof typeof STAGES,
  histories: number,
  check: (payer: HonestPayer) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (let left = histories; left > 0; left -= HISTORIES_A_STAGE) {
    const stage = await STAGES[provider]();
    try {
      await fc.assert(
        fc.asyncProperty(paidHistories, async ({ acts, ...first }) => {
          const payer = await HonestPayer.begin(stage, first);
          for (const act of acts) if (!(await payer.act(act))) break;
          expectHonest(payer);
          await check(payer);
        }),
        { numRuns: Math.min(left, HISTORIES_A_STAGE) },
      );
    } finally {
      await stage.close();
    }
  }
}
