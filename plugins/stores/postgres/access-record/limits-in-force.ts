// Pieces of statements that have a subscription as `s`, its plan, if it has one, as `l` and its product as `p`.

/** Requests or units a day without the customer's own cap. */
export const DAILY_BEFORE_CAP = 'COALESCE(s.daily_override, l.daily, p.daily)';

/** Requests or units a day, above which the gateway refuses. */
export const DAILY_IN_FORCE = `LEAST(${DAILY_BEFORE_CAP}, s.daily_cap)`;

/** Requests or units a month, above which the gateway refuses. */
export const MONTHLY_IN_FORCE = 'COALESCE(s.monthly_override, l.monthly, p.monthly)';

/** How fast requests may come. A plan without a rate has none, whatever the base limits say. NULL: as fast as they like. */
export const RATE_IN_FORCE = 'COALESCE(s.rate_override, CASE WHEN s.plan_name IS NULL THEN p.rate ELSE l.rate END)';

/** What the price includes, as JSON; NULL where the plan sells nothing above it. */
export const OVERAGE_IN_FORCE = 'overage_of(l.overage, s.daily_override, s.monthly_override)';
