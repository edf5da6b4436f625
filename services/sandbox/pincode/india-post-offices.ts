/** One post office as postalpincode.in lists it. Trailing spaces in names and missing blocks are the provider's own. */
export interface PostOffice {
  readonly Name: string;
  readonly Description: null;
  readonly BranchType: string;
  readonly DeliveryStatus: string;
  readonly Circle: string;
  readonly District: string;
  readonly Division: string;
  readonly Region: string;
  readonly Block?: string;
  readonly State: string;
  readonly Country: 'India';
  readonly Pincode: string;
}

interface Area {
  readonly pin: string;
  readonly circle: string;
  readonly district: string;
  readonly division: string;
  readonly region: string;
  readonly block: string | undefined;
  readonly state: string;
  /** Name, branch type, delivery. */
  readonly offices: readonly (readonly [name: string, branch: 'Head' | 'Sub' | 'Branch', delivers: boolean])[];
}

const BRANCH_TYPES = { Head: 'Head Post Office', Sub: 'Sub Post Office', Branch: 'Branch Post Office' } as const;

const AREAS: readonly Area[] = [
  {
    pin: '110001',
    circle: 'Delhi',
    district: 'Central Delhi',
    division: 'New Delhi Central',
    region: 'Delhi',
    block: 'New Delhi',
    state: 'Delhi',
    offices: [
      ['Baroda House', 'Sub', false],
      ['Bengali Market', 'Sub', false],
      ['Connaught Place', 'Sub', false],
      ['New Delhi ', 'Head', true],
      ['Parliament House', 'Sub', false],
      ['Supreme Court', 'Sub', false],
    ],
  },
  {
    pin: '400001',
    circle: 'Maharashtra',
    district: 'Mumbai',
    division: 'Mumbai  South',
    region: 'Mumbai',
    block: 'Mumbai',
    state: 'Maharashtra',
    offices: [
      ['Bazargate', 'Sub', false],
      ['Elephanta Caves Po', 'Branch', true],
      ['Mumbai G.P.O. ', 'Head', true],
      ['Stock Exchange', 'Sub', false],
      ['Town Hall ', 'Sub', false],
    ],
  },
  {
    pin: '560001',
    circle: 'Karnataka',
    district: 'Bangalore',
    division: 'Bangalore East',
    region: 'Bangalore HQ',
    block: 'Bangalore North',
    state: 'Karnataka',
    offices: [
      ['Bangalore G.P.O. ', 'Head', true],
      ['Highcourt', 'Sub', false],
      ['Mahatma Gandhi Road', 'Sub', false],
      ['Vidhana Soudha', 'Sub', false],
    ],
  },
  {
    pin: '600001',
    circle: 'Tamilnadu',
    district: 'Chennai',
    division: 'Chennai GPO',
    region: 'Chennai City',
    block: undefined,
    state: 'Tamil Nadu',
    offices: [
      ['Chennai G.P.O. ', 'Head', true],
      ['Flower Bazaar', 'Sub', true],
      ['Mannady ', 'Sub', true],
    ],
  },
  {
    pin: '700001',
    circle: 'West Bengal',
    district: 'Kolkata',
    division: 'Kolkata GPO',
    region: 'Calcutta',
    block: 'Kolkata',
    state: 'West Bengal',
    offices: [
      ['Kolkata G.P.O. ', 'Head', true],
      ['Lalbazar', 'Sub', false],
    ],
  },
  {
    pin: '500001',
    circle: 'Telangana',
    district: 'Hyderabad',
    division: 'Hyderabad City',
    region: 'Hyderabad City',
    block: 'Nampally',
    state: 'Telangana',
    offices: [
      ['Hyderabad G.P.O. ', 'Head', true],
      ['Gandhi Bhawan', 'Sub', false],
    ],
  },
];

/** All post offices that the sandbox knows, in the provider's member order. */
export const POST_OFFICES: readonly PostOffice[] = AREAS.flatMap((area) =>
  area.offices.map(([name, branch, delivers]) => ({
    Name: name,
    Description: null,
    BranchType: BRANCH_TYPES[branch],
    DeliveryStatus: delivers ? 'Delivery' : 'Non-Delivery',
    Circle: area.circle,
    District: area.district,
    Division: area.division,
    Region: area.region,
    ...(area.block !== undefined && { Block: area.block }),
    State: area.state,
    Country: 'India' as const,
    Pincode: area.pin,
  })),
);
