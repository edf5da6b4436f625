async function invoice(stripe, stripeCustomer, { id, data }) {
  for (const total of data.totals.filter(({ amount }) => Number(amount) > 0)) {
    const currency = total.currency.toLowerCase();
    for (const line of data.lines.filter((each) => each.currency === total.currency && !each.isPaidInAdvance && Number(each.amount) > 0)) {
      await stripe.invoiceItems.create(
        {
          customer: stripeCustomer,
          currency,
          amount: Number(line.amount.replace('.', '')),
          description: `${line.product} ${line.plan}, ${line.days} of ${data.daysInMonth} days of ${data.month}`,
        },
        { idempotencyKey: `${id}-${line.subscriptionId}-${line.plan}-${line.price}-${line.daily}-${line.monthly}` },
      );
    }
    await stripe.invoices.create(
      { customer: stripeCustomer, currency, pending_invoice_items_behavior: 'include' },
      { idempotencyKey: `${id}-${currency}` },
    );
  }
}

module.exports = { invoice };
