import { catalogueJsonSchema } from '../plugins/core/catalogue/catalogue-schema';

// Prints what editors complete and check kong/catalogue.yml with; npm run catalogue-schema keeps it as kong/catalogue.schema.json.
process.stdout.write(`${JSON.stringify(catalogueJsonSchema(), null, 2)}\n`);
