/** The name of a product's base limits wherever a customer reads of them: they cost nothing. */
export const FREE_PLAN = 'Free';

/** The price of the base limits. */
export const NO_CHARGE = 'No charge';

/** @param plan null: the base limits */
export const planName = (plan: string | null): string => plan ?? FREE_PLAN;
