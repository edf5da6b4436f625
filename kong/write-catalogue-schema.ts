import { catalogueJsonSchema } from '../plugins/core/catalogue/catalogue-schema';

// Prints the schema with which editors complete and check kong/catalogue.yml. npm run catalogue-schema stores it as
// kong/catalogue.schema.json.
process.stdout.write(`${JSON.stringify(catalogueJsonSchema(), null, 2)}\n`);
