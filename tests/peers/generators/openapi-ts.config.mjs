export default {
  input: 'openapi.json',
  output: { path: 'hey-api', tsConfigPath: 'tsconfig.json', importFileExtension: '.js' },
};
