async function invoice(razorpay, razorpayCustomer, { data }) {
  const lines = data.lines.filter(({ amount, currency, isPaidInAdvance }) => currency === 'INR' && !isPaidInAdvance && amount !== '0.00');
  if (lines.length === 0) return;
  await razorpay.invoices.create({
    type: 'invoice',
    customer_id: razorpayCustomer,
    currency: 'INR',
    receipt: `${data.customer_id.slice(0, 8)}-${data.month}`,
    line_items: lines.map((line) => ({
      name: `${line.product} ${line.plan}`,
      description: `${line.days} of ${data.daysInMonth} days of ${data.month}`,
      amount: Number(line.amount.replace('.', '')),
      quantity: 1,
    })),
  });
}

module.exports = { invoice };
