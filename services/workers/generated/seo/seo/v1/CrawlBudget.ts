// Original file: protos/seo/v1/seo.proto


export interface CrawlBudget {
  'pagesAllowed'?: (number);
  'pagesAsked'?: (number);
  'msAllowed'?: (number);
  'msSpent'?: (number);
}

export interface CrawlBudget__Output {
  'pagesAllowed': (number);
  'pagesAsked': (number);
  'msAllowed': (number);
  'msSpent': (number);
}
