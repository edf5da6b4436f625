// Messages of zod in fifty languages, which no code of ours asks for. Jest would load all of them anew for every file of tests.
module.exports = {};
