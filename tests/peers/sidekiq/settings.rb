# What the environment says, for whoever adds jobs and whoever does them.
require "sidekiq"

redis = { url: ENV.fetch("REDIS_URL") }
Sidekiq.configure_client { |config| config.redis = redis }
Sidekiq.configure_server { |config| config.redis = redis }
